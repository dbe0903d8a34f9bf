/*
 * Calls of all kinds that C has by itself: recursion, mutual recursion, through pointers, callbacks
 * that are called back, deep and wide. Nothing in it depends on the platform: built for any, its
 * functions call each other as often, from the same lines. See tests/windows_same_edges.sh.
 */
#include "program.h"

struct node {
    struct node *left, *right;
    int key;
};

static struct node nodes[512];
static int used;

COUNTED struct node *make(int key)
{
    nodes[used].key = key;
    return &nodes[used++];
}

COUNTED void insert(struct node **place, int key)
{
    if (!*place)
        *place = make(key);
    else if (key < (*place)->key)
        insert(&(*place)->left, key);
    else
        insert(&(*place)->right, key);
    OPAQUE(place);
}

typedef int visitor(void *user, int key);

COUNTED int visit(struct node *node, visitor *visitor, void *user)
{
    int sum = 0;

    if (node->left)
        sum += visit(node->left, visitor, user);
    sum += visitor(user, node->key);
    if (node->right)
        sum += visit(node->right, visitor, user);
    return sum;
}

COUNTED int is_prime(int number)
{
    for (int divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return 0;
    return number > 1;
}

COUNTED int count_primes(void *user, int key)
{
    int *asked = (int *)user;

    ++*asked;
    return is_prime(key);
}

COUNTED int is_odd(int number);

COUNTED int is_even(int number)
{
    int result = number == 0 ? 1 : is_odd(number - 1);

    OPAQUE(result);
    return result;
}

COUNTED int is_odd(int number)
{
    int result = number == 0 ? 0 : is_even(number - 1);

    OPAQUE(result);
    return result;
}

COUNTED int count_even(void *user, int key)
{
    int result = is_even(key % 64);

    OPAQUE(result);
    return result + (user != NULL);
}

COUNTED int ackermann(int m, int n)
{
    int inner;

    if (m == 0)
        return n + 1;
    inner = n == 0 ? 1 : ackermann(m, n - 1);
    OPAQUE(inner);
    inner = ackermann(m - 1, inner);
    OPAQUE(inner);
    return inner;
}

COUNTED double mean(double a, float b, int c, long long d)
{
    return (a + b + c + (double)d) / 4;
}

int main(void)
{
    struct node *root = NULL;
    int asked = 0, primes, even;
    unsigned key = 1;
    double sum = 0;

    for (int i = 0; i < 512; i++) {
        key = key * 1103515245 + 12345;
        insert(&root, (int)(key >> 16 & 1023));
    }
    primes = visit(root, count_primes, &asked);
    even = visit(root, count_even, NULL);
    for (int i = 0; i < 100; i++)
        sum += mean(i, 2, i, 4);
    printf("%d %d %d %d %ld %g\n", primes, asked, even, ackermann(2, 9), fib(20), sum);
    return 0;
}
