package report

// Width is how many columns a line takes.
func Width(line string) int { return widthOf(line) }
