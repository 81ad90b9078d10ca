"""The team's shelf of plans: their versions, their states, and the store that holds them."""
