"""The interpreter's own work. Nothing of shared libraries, whose types lie elsewhere in each process."""
import collections
import heapq
import re


class Item:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    @property
    def twice(self):
        return 2 * self.value


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def caught(count):
    for i in range(count):
        try:
            if i % 3 == 0:
                raise ValueError(i)
            yield i
        except ValueError as error:
            yield -error.args[0]


print(fib(12), sum(caught(300)), 3**500 % 1007, "%.3f" % 2**0.5, f"{1234567:,}", bytes(range(10)).hex())
print(sum(item.twice for item in sorted(Item(i * 7919 % 1009) for i in range(500))))
print(re.sub(r"(\d+)x?(?=[a-c])", lambda match: match[1][::-1], "123xa 45b 67c " * 20)[:40])
print(collections.Counter("abracadabra").most_common(2))
heap = []
for i in range(300):
    heapq.heappush(heap, i * 31 % 97)
print(heap[:5], {1, 2, 3} | {4}, [x for x in range(20) if x % 3], {str(i): [i, i / 3] for i in range(200)}["7"])
