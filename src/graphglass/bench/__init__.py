"""The benchmark: named protocols, records that can be rebuilt into tables, every method behind one contract."""
