"""On a cluster: joins on which an assignor never returns, played and measured on a real broker."""
