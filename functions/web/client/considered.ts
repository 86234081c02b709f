// A page elsewhere can close its own window under the first of two clicks, so that the second falls on
// a button of ours that nobody has read. What gives something away is held for a moment when its page
// appears, and anew whenever the window comes to the front.
const heldMilliseconds = 700

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-considered]')) {
  let held = 0
  const hold = () => {
    button.disabled = true
    window.clearTimeout(held)
    held = window.setTimeout(() => {
      button.disabled = false
    }, heldMilliseconds)
  }
  hold()
  window.addEventListener('focus', hold)
}

export {}
