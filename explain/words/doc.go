// Package words puts numbers, lists and times into words, in the same way for every message of an
// explanation, and makes the keys by which explanations compare findings without regard to their words.
package words
