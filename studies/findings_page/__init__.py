"""The findings page: what the assignors that people run break, out of the files of the studies."""
