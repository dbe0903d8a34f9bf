// Exceptions through compiled code, a thread, the collector.
public class Throws {
    static int fails(int n)
    {
        if (n % 3 == 0)
            throw new RuntimeException("thrown at " + n);
        return n;
    }

    public static void main(String[] arguments) throws Exception
    {
        long sum = 0;
        for (int i = 0; i < 20000; i++) {
            try {
                sum += fails(i);
            } catch (RuntimeException exception) {
                sum += exception.getStackTrace().length > 0 ? 1 : 0;
            }
        }
        System.out.println(sum);
        Thread thread = new Thread(() -> System.out.println("thread"));
        thread.start();
        thread.join();
        System.gc();
        System.out.println("end");
    }
}
