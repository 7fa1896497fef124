// Package screen is the contract between the root of the terminal UI and its screens.
//
// A [Screen] shows one thing: a view such as the claims, or a page about one object. Screens know the
// [World], which is the newest snapshot and what follows from it, and never each other: they ask the root
// to go elsewhere by returning a message ([Open], [Go], [Say], …) from a command ([Send]).
//
// # Nothing waits
//
// Update and View run between two frames. Whatever costs time (a search, building rows for thousands of
// objects) is done in a [Job], which runs in the background and hands its result to Update as a message.
// A Job drops results that are no longer wanted and cancels what was superseded.
//
// # Links
//
// A name on a page that leads somewhere is a span made by [LinkTo]. widget.Page moves the cursor over links,
// package reading says what is under it, and the root opens the page about that.
//
// # How to add a screen
//
// A package with a type that implements Screen, and one line in the root's table of views. Most views are
// tables: package tui/listing has everything that tables have in common.
package screen
