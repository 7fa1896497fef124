package cli

import (
	"testing"
	"testing/synctest"
)

func TestTheWriterEndsAfterWhatWasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writer := &topWriter{}
		end, err := writer.begin()
		if err != nil {
			t.Fatal(err)
		}
		waited := false
		go func() { writer.wait(); waited = true }()
		synctest.Wait()
		if waited {
			t.Error("it did not wait for what is being written")
		}
		if _, err := writer.begin(); err == nil {
			t.Error("something was begun although the program ends")
		}
		end()
		synctest.Wait()
		if !waited {
			t.Error("it waits although nothing is being written")
		}
	})
}
