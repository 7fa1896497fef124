package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// What the root tells a screen.
type (
	// Shown says that the screen has become visible.
	Shown struct{}
	// Hidden says that the screen is no longer visible. Work that is not worth finishing is cancelled.
	Hidden struct{}
	// Changed says that the world is another one than at the last Shown or Changed.
	Changed struct{}
	// Selected asks the screen to put its cursor on this object, if it shows it.
	Selected struct{ Ref Ref }
	// Pressed says that a key of the screen was pressed, so that the cursor may be elsewhere.
	Pressed struct{}
	// Type asks the screen to take text from now on, if it can.
	Type struct{}
	// Filter is as much of a filter as the user has typed.
	Filter struct{ Text string }
	// Search is as much as the user has typed of what is to be looked for. If it is empty, the search ends.
	Search struct{ Text string }
)

// Page is something that is shown about one object, above the view that it was opened from.
type Page string

// The pages.
const (
	Explain Page = "explain"
	Detail  Page = "detail"
	YAML    Page = "yaml"
	Fit     Page = "fit"
	Logs    Page = "logs"
	// Fixes is what keeps several objects, and the commands of what helps.
	Fixes Page = "fixes"
)

// The pages that say what would be if objects were taken away, and what has to go so that one fits.
const (
	Drain    Page = "drain"
	Lose     Page = "lose"
	Taint    Page = "taint"
	Delete   Page = "delete"
	Evict    Page = "evict"
	MakeRoom Page = "make-room"
)

// What a screen tells the root, through Send.
type (
	// Open shows a page about an object: Screen, if it is not nil, which no other page of the kind is.
	Open struct {
		Page   Page
		Ref    Ref
		Screen Screen
	}
	// Go changes to the view with this name and points at the object, if there is one.
	Go struct {
		View string
		Ref  Ref
	}
	// Back closes the page that is shown.
	Back struct{}
	// Choose lets the user choose one of some offers, which are narrowed by typing.
	Choose struct {
		Label  string
		Offers []Offer
	}
	// Say shows a remark in the status line until the next key.
	Say struct {
		Text string
		Role styled.Role
	}
	// Copy puts text onto the clipboard.
	Copy struct{ Text string }
	// Noted tells of something that the screen has seen to happen, which snapshots do not show.
	Noted struct{ Events []Event }
	// Suppose adds a change to what is supposed, or takes it away again.
	Suppose struct{ Change Change }
)

// Offer is something that can be taken. Its texts need not be safe to show.
type Offer struct {
	Text, Note string
	Take       func(w *World) tea.Cmd
}

// Send is a command that does nothing but deliver a message.
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
