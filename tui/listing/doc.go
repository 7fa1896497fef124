// Package listing makes screens of tables: a [List] builds its rows in the background, keeps them filtered,
// sorted and grouped, and handles the keys that all tables have. A screen embeds a List, says how rows are
// built and what their columns show, and adds what is special to it.
package listing
