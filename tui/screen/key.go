package screen

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Key is a key, or several that do the same, with all that there is to it. The status line and the help are
// made of the same values that decide what a key does, so they cannot say anything else.
type Key struct {
	// Name says what the key does, as "explain". It is unique among the keys that are in force together.
	Name string
	// Press are the keystrokes, in the notation of Bubble Tea ("enter", "ctrl+f", "?").
	Press []string
	// Show is how the key is written for people. If it is empty, that is the first of Press.
	Show string
	// Short says in a word or two what the key does. If it is empty, the status line does not mention the
	// key.
	Short string
	// Help says in one line what the key does.
	Help string
	// Off says why the key does nothing at the moment. It is empty if the key works.
	Off string
	// Do is what the key does.
	Do func(w *World) tea.Cmd
}

// Label is how the key is written for people.
func (k Key) Label() string {
	if k.Show != "" {
		return k.Show
	}
	return k.Press[0]
}

// Then makes a Do of what needs no world and no command, such as a move of the cursor.
func Then(do func()) func(*World) tea.Cmd {
	return func(*World) tea.Cmd { do(); return nil }
}

// Keys is a list of keys, in the order in which they are shown.
type Keys []Key

// Find returns the key that a keystroke means.
func (all Keys) Find(press string) (Key, bool) {
	for _, k := range all {
		if slices.Contains(k.Press, press) {
			return k, true
		}
	}
	return Key{}, false
}

// Named returns the key with a name.
func (all Keys) Named(name string) (Key, bool) {
	for _, k := range all {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Do does what a keystroke means, if there is such a key and it works.
func (all Keys) Do(w *World, press string) (cmd tea.Cmd, done bool) {
	k, ok := all.Find(press)
	if !ok || k.Off != "" || k.Do == nil {
		return nil, false
	}
	return k.Do(w), true
}
