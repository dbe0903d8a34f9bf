# Counts made-up words, and sorts them.
use strict;
use warnings;
my (%counts, %shapes);
for my $i (0 .. $ARGV[0] - 1) {
    my $word = sprintf('%x', $i * 7919 % 65536);
    $counts{$word}++;
    $shapes{"$2$1"} .= length $word while $word =~ /([a-f]+)([0-9]+)/g;
}
my @sorted = sort { $counts{$a} <=> $counts{$b} || $a cmp $b } keys %counts;
my $total = 0;
$total += length join('-', split(//, $_)) for keys %shapes;
print scalar(@sorted), " $sorted[0] $sorted[-1] $total\n";
