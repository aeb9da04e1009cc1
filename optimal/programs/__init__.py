"""The models of the solvers: who may own what, and what every tier costs."""
