"""Where bytes lie: file systems and their addresses, files, blocks, archives, stamps. It knows no table."""
