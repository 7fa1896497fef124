// Package priority is the view of API Priority and Fairness: the seats of each priority level, what is
// borrowed and lent, and what is executing, waiting and rejected, now and over the last minutes.
package priority
