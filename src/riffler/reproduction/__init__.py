"""Published results run again: one module and one expected table each; ``riffler reproduce`` runs them."""
