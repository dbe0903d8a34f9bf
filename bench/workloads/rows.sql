DROP TABLE IF EXISTS words;
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, weight REAL);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
INSERT INTO words SELECT i, printf('%x', i * 7919 % 65536), i * 0.25 FROM n;
CREATE INDEX by_word ON words (word, weight);
SELECT count(*), sum(weight), min(word), max(word) FROM words;
SELECT word, count(*) AS n, avg(weight) FROM words GROUP BY word ORDER BY n DESC, word LIMIT 5;
SELECT count(*) FROM words a JOIN words b ON a.word = b.word AND a.id < b.id;
UPDATE words SET weight = weight + length(word) WHERE word LIKE '%a%';
DELETE FROM words WHERE id % 3 = 0;
SELECT substr(group_concat(word), 1, 60), total(weight) FROM (SELECT * FROM words ORDER BY word);
PRAGMA integrity_check;
