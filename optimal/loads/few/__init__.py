"""Members that hold few partitions each: every part of the right weight, and ways to deal them."""
