// Works in threads until SIGTERM, and checks what comes out: C that Java calls and that calls Java (Natives.java),
// exceptions, which HotSpot makes of SIGSEGV too, garbage, deep stacks, code that is made and thrown away.
// Attached THREADS; says its pid once all have begun, and what was wrong.
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;

public class Attached {
    static final AtomicInteger rounds = new AtomicInteger(), wrong = new AtomicInteger();
    static volatile boolean ends;

    static void check(String what, long is, long shouldBe)
    {
        if (is == shouldBe)
            return;
        wrong.incrementAndGet();
        System.out.println(what + " " + is + ", should be " + shouldBe);
    }

    static int deep(int depth)
    {
        if (depth == 0)
            throw new IllegalStateException();
        return deep(depth - 1) + 1;
    }

    static int endless(int depth)
    {
        return endless(depth + 1) + depth;
    }

    static void exceptions(String none)
    {
        try {
            deep(100);
        } catch (IllegalStateException exception) {
            check("frames", exception.getStackTrace().length > 100 ? 1 : 0, 1);
        }
        try {
            check("length of null", none.length(), 0);
            check("no exception", 0, 1);
        } catch (NullPointerException exception) {
        }
        try {
            endless(0);
        } catch (StackOverflowError error) {
        }
    }

    static void garbage(int round)
    {
        TreeMap<String, byte[]> all = new TreeMap<>();
        CRC32 before = new CRC32(), after = new CRC32();
        for (int i = 1000; i < 2000; i++) {
            byte[] bytes = new byte[i];
            bytes[i - 1] = (byte) (i * round);
            before.update(bytes);
            all.put("number " + i, bytes);
        }
        all.values().forEach(after::update);
        check("sum of bytes", after.getValue(), before.getValue());
    }

    static long areas()
    {
        Natives.Shape[] shapes = {() -> 1, () -> 2, () -> 3};
        long sum = 0;
        for (int i = 0; i < 3000; i++)
            sum += shapes[i < 2000 ? 0 : i % 3].area();
        return sum;
    }

    static void work(long expected)
    {
        try {
            for (int i = 0; !ends; i++) {
                check("natives", Natives.work(1), expected);
                exceptions(i < 0 ? "" : null);
                garbage(i);
                check("areas", areas(), 4001);
                rounds.incrementAndGet();
            }
        } catch (Throwable throwable) {
            throwable.printStackTrace(System.out);
            wrong.incrementAndGet();
        }
    }

    public static void main(String[] arguments) throws Exception
    {
        List<Thread> threads = new ArrayList<>();
        System.load(System.getProperty("user.dir") + "/libnatives.so");
        long expected = Natives.work(1);
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++)
            threads.add(new Thread(null, () -> work(expected), "worker " + i, 256 << 10));
        for (Thread thread : threads)
            thread.start();
        while (rounds.get() < 2 * threads.size())
            Thread.sleep(10);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ends = true;
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException interrupted) {
                }
            }
            System.out.println("wrong: " + wrong);
        }));
        System.out.println(ProcessHandle.current().pid());
        for (;;) {
            System.gc();
            check("main's trace", Thread.getAllStackTraces().get(Thread.currentThread()).length > 2 ? 1 : 0, 1);
            Thread.sleep(50);
        }
    }
}
