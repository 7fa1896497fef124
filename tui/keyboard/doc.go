// Package keyboard reads keys so that what they set off need not wait for a processor.
package keyboard
