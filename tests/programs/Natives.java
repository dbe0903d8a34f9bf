// Calls between Java and C both ways: exceptions through them, stack traces from within, the
// collector, code that is thrown away while C is on the stack. natives.c is the other side.
// Natives THREADS ROUNDS
import java.util.ArrayList;
import java.util.List;

public class Natives {
    interface Shape {
        int area();
    }

    static class Square implements Shape {
        public int area()
        {
            return 4;
        }
    }

    static native int add(int a, int b);
    static native int sort(int[] numbers);
    static native void run(Runnable what);
    static native int fail(int n);
    static synchronized native long nested(int depth);
    static native int catching(int n);

    static volatile Shape shape = new Square();
    static final List<Object> kept = new ArrayList<>();

    static long adds(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += add(i, i + 1);
        return sum;
    }

    static int fails(int count)
    {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                fail(i);
            } catch (IllegalStateException exception) {
                caught += exception.getStackTrace()[0].getMethodName().equals("fail") ? 1 : 0;
                caught += exception.getStackTrace()[1].getMethodName().equals("fails") ? 1 : 0;
            }
        }
        return caught;
    }

    // Called by C, at the bottom of `nested`.
    static long below(int depth) throws Exception
    {
        if (depth > 0)
            return nested(depth - 1) + 1;
        byte[][] garbage = new byte[64][];
        for (int i = 0; i < garbage.length; i++)
            garbage[i] = new byte[1024];
        int frames = new Throwable().getStackTrace().length;
        long walked = StackWalker.getInstance().walk(all -> all.filter(
            frame -> frame.getMethodName().equals("nested")).count());
        return frames > walked ? walked * 1000 : -1;
    }

    static void thrown(int n)
    {
        throw new IllegalArgumentException("thrown " + n);
    }

    static long virtual(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += shape.area();
        return sum;
    }

    // There is another Shape while C is on the stack: this frame's code is thrown away.
    static long deoptimised(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            int j = i;
            sum += shape.area();
            if (i == count - 10)
                run(() -> {
                    shape = new Shape() {
                        public int area()
                        {
                            return 5;
                        }
                    };
                    virtual(10);
                });
            sum += add(j, 1);
        }
        return sum;
    }

    static long work(int rounds) throws Exception
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += adds(2000) + fails(50) + nested(20);
            int[] numbers = new int[100];
            for (int j = 0; j < numbers.length; j++)
                numbers[j] = j * 7919 % 101;
            sum += sort(numbers) + numbers[50];
            for (int j = 0; j < 20; j++)
                sum += catching(j);
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception
    {
        System.load(System.getProperty("user.dir") + "/libnatives.so");
        int threads = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
        long[] sums = new long[threads];
        Thread[] running = new Thread[threads];

        virtual(200000);
        System.out.println(deoptimised(100000));
        for (int i = 0; i < threads; i++) {
            int number = i;
            running[i] = new Thread(() -> {
                try {
                    sums[number] = work(rounds);
                } catch (Throwable wrong) {
                    wrong.printStackTrace();
                }
            });
            running[i].start();
        }
        int traces = 0;
        for (Thread thread : running) {
            while (thread.isAlive()) {
                System.gc();
                for (StackTraceElement[] trace : Thread.getAllStackTraces().values())
                    traces += trace.length > 1000 ? 1 : 0;
                thread.join(5);
            }
        }
        for (long sum : sums)
            System.out.println(sum);
        System.out.println(traces);
        run(() -> new Throwable("from below").printStackTrace());
        try {
            run(() -> thrown(7));
        } catch (IllegalArgumentException exception) {
            exception.printStackTrace();
        }
        System.out.println("end");
    }
}
