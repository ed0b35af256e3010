"""What all clients of AWS have in common: who asks, how a service is reached, and what it says when it says no."""
