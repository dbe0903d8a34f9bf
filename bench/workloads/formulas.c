/*
 * formulas ROUNDS: reads formulas into trees, works them out, writes them, sorts the values: some
 * forty short functions that call each other through pointers, recursively and in loops, as
 * interpreters do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 4096

struct node {
    long (*value)(const struct node *node);
    const struct node *left, *right;
    long number;
    char sign;
};

static struct node nodes[NODES];
static int used;
static const char *at;
static unsigned long seed = 42;
static long variables[26];

static unsigned random_below(unsigned limit)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(seed >> 33) % limit;
}

static long value_of(const struct node *node)
{
    return node->value(node);
}

static long number_value(const struct node *node)
{
    return node->number;
}

static long variable_value(const struct node *node)
{
    return variables[node->number];
}

static long sum_value(const struct node *node)
{
    return value_of(node->left) + value_of(node->right);
}

static long difference_value(const struct node *node)
{
    return value_of(node->left) - value_of(node->right);
}

static long product_value(const struct node *node)
{
    return value_of(node->left) * value_of(node->right) % 10007;
}

static long quotient_value(const struct node *node)
{
    long by = value_of(node->right);

    return by ? value_of(node->left) / by : 0;
}

static struct node *node_take(char sign)
{
    struct node *node = &nodes[used++ % NODES];

    node->sign = sign;
    return node;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char look(void)
{
    return *at;
}

static char take(void)
{
    return *at++;
}

static const struct node *read_sum(void);

static const struct node *read_number(void)
{
    struct node *node = node_take('0');

    node->value = number_value;
    node->number = 0;
    while (is_digit(look()))
        node->number = node->number * 10 + (take() - '0');
    return node;
}

static const struct node *read_variable(void)
{
    struct node *node = node_take('v');

    node->value = variable_value;
    node->number = take() - 'a';
    return node;
}

static const struct node *read_atom(void)
{
    const struct node *inner;

    if (is_digit(look()))
        return read_number();
    if (look() != '(')
        return read_variable();
    take();
    inner = read_sum();
    take();
    return inner;
}

static const struct node *pair(char sign, long (*value)(const struct node *),
                               const struct node *left, const struct node *right)
{
    struct node *node = node_take(sign);

    node->value = value;
    node->left = left;
    node->right = right;
    return node;
}

static const struct node *read_product(void)
{
    const struct node *left = read_atom();

    while (look() == '*' || look() == '/') {
        char sign = take();
        left = pair(sign, sign == '*' ? product_value : quotient_value, left, read_atom());
    }
    return left;
}

static const struct node *read_sum(void)
{
    const struct node *left = read_product();

    while (look() == '+' || look() == '-') {
        char sign = take();
        left = pair(sign, sign == '+' ? sum_value : difference_value, left, read_product());
    }
    return left;
}

static char *put(char *to, char c)
{
    *to = c;
    return to + 1;
}

static char *put_number(char *to, long number)
{
    if (number >= 10)
        to = put_number(to, number / 10);
    return put(to, (char)('0' + number % 10));
}

static char *put_formula(char *to, int depth)
{
    if (depth == 0 || random_below(8) == 0)
        return random_below(2) ? put_number(to, random_below(1000))
                               : put(to, (char)('a' + random_below(26)));
    to = put_formula(put(to, '('), depth - 1);
    to = put_formula(put(to, "+-*/"[random_below(4)]), depth - 1);
    return put(to, ')');
}

static int compare(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

static unsigned long hash_of(const char *text)
{
    unsigned long hash = 14695981039346656037ul;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ul;
    return hash;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    unsigned long sum = 0;
    static long values[64];
    static char text[8192];

    for (long round = 0; round < rounds; round++) {
        *put_formula(text, 6) = 0;
        at = text;
        used = 0;
        const struct node *formula = read_sum();
        for (int i = 0; i < 64; i++) {
            variables[i % 26] = i;
            values[i] = value_of(formula);
        }
        qsort(values, 64, sizeof(*values), compare);
        sum += hash_of(text) + (unsigned long)values[32];
    }
    printf("%lx\n", sum);
}
