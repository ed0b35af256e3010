"""The warm server: a Spark Connect server of this user's on loopback, kept between commands."""
