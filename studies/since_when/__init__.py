"""SINCE WHEN: which releases of each client break the promise of each finding."""
