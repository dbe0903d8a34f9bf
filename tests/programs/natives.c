// What Natives.java calls.
#include <jni.h>
#include <stdlib.h>

__attribute__((noinline)) static int sum(int a, int b)
{
    return a + b;
}

JNIEXPORT jint JNICALL Java_Natives_add(JNIEnv *env, jclass class, jint a, jint b)
{
    (void)env, (void)class;
    return sum(a, b);
}

__attribute__((noinline)) static int compare(const void *left, const void *right)
{
    return *(const jint *)left - *(const jint *)right;
}

JNIEXPORT jint JNICALL Java_Natives_sort(JNIEnv *env, jclass class, jintArray numbers)
{
    jint *own = (*env)->GetPrimitiveArrayCritical(env, numbers, NULL);

    (void)class;
    qsort(own, (size_t)(*env)->GetArrayLength(env, numbers), sizeof(*own), compare);
    (*env)->ReleasePrimitiveArrayCritical(env, numbers, own, 0);
    return (*env)->GetArrayLength(env, numbers);
}

JNIEXPORT void JNICALL Java_Natives_run(JNIEnv *env, jclass class, jobject what)
{
    jclass of = (*env)->GetObjectClass(env, what);

    (void)class;
    (*env)->CallVoidMethod(env, what, (*env)->GetMethodID(env, of, "run", "()V"));
}

JNIEXPORT jint JNICALL Java_Natives_fail(JNIEnv *env, jclass class, jint n)
{
    (void)class;
    if (n % 3 == 0)
        (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/IllegalStateException"), "from C");
    return n;
}

JNIEXPORT jlong JNICALL Java_Natives_nested(JNIEnv *env, jclass class, jint depth)
{
    jmethodID below = (*env)->GetStaticMethodID(env, class, "below", "(I)J");

    return (*env)->CallStaticLongMethod(env, class, below, depth);
}

JNIEXPORT jint JNICALL Java_Natives_catching(JNIEnv *env, jclass class, jint n)
{
    (*env)->CallStaticVoidMethod(env, class,
                                 (*env)->GetStaticMethodID(env, class, "thrown", "(I)V"), n);
    if (!(*env)->ExceptionCheck(env))
        return -1;
    (*env)->ExceptionClear(env);
    return sum(n, 1);
}
