"""On a cluster: joins on which an assignor never returns, played on a real broker and measured."""
