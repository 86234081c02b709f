// Clickjacking: another page can close its own window under the first of two clicks, so that the second
// hits a button of ours that nobody has read. A button that gives something away is therefore disabled
// for a moment when its page appears, and each time the window gets the focus.
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
