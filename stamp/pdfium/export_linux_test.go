package pdfium

// ThreadTime is for tests.
var ThreadTime = threadTime
