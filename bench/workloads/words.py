"""Counts made-up words, writes and reads them as JSON, and sorts them."""
import json
import re
import sys

counts = {}
for i in range(int(sys.argv[1])):
    word = '%x' % (i * 7919 % 65536)
    counts[word] = counts.get(word, 0) + 1
shape = re.compile('([a-f]+)([0-9]+)')
for _ in range(4):
    rows = [{'word': word, 'count': count, 'shape': shape.sub(r'\2\1', word)} for word, count in counts.items()]
    rows = json.loads(json.dumps(rows, indent=1))
    rows.sort(key=lambda row: (row['shape'], row['count']))
print(len(rows), rows[0], rows[-1])
