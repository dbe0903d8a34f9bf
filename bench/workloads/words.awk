# Counts made-up words, and sorts them.
BEGIN {
    for (i = 0; i < count; i++) {
        word = sprintf("%x", i * 7919 % 65536)
        counts[word]++
        if (word ~ /^[a-f]+[0-9]/)
            lengths[length(word)] += index(word, "a")
        gsub(/[0-9]/, "#", word)
        shapes[toupper(word)]++
    }
    n = asorti(counts, sorted)
    for (shape in shapes)
        total += split(shape, parts, "#")
    print n, sorted[1], sorted[n], total
}
