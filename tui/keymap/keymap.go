package keymap

import "slices"

// Action names what a key does, as "explain". Actions are unique among the keys that are in force together.
type Action string

// Key is a key, or several that do the same.
type Key struct {
	Action Action
	// Press are the keystrokes, in the notation of Bubble Tea ("enter", "ctrl+f", "?").
	Press []string
	// Show is how the key is written for people. If it is empty, that is the first of Press.
	Show string
	// Short says in a word or two what the key does. If it is empty, the status line does not mention the key.
	Short string
	// Help says in one line what the key does.
	Help string
	// Off says why the key does nothing at the moment. It is empty if the key works.
	Off string
}

// Label is how the key is written for people.
func (k Key) Label() string {
	if k.Show != "" {
		return k.Show
	}
	return k.Press[0]
}

// Disabled returns the key with a reason why it does nothing. An empty reason enables it.
func (k Key) Disabled(why string) Key {
	k.Off = why
	return k
}

// Map is a list of keys, in the order in which they are shown.
type Map []Key

// Find returns the key that a keystroke means.
func (m Map) Find(press string) (Key, bool) {
	for _, k := range m {
		if slices.Contains(k.Press, press) {
			return k, true
		}
	}
	return Key{}, false
}

// Action returns the action of a keystroke if that key is there and works, and "" otherwise.
func (m Map) Action(press string) Action {
	if k, ok := m.Find(press); ok && k.Off == "" {
		return k.Action
	}
	return ""
}
