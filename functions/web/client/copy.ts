// Adds a copy button beside each text that is meant to be copied. Without script, a click selects it all.
for (const place of document.querySelectorAll<HTMLElement>('[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(place.dataset['copy'] ?? '').then(
      () => {
        button.textContent = 'Copied'
      },
      () => {
        button.textContent = 'Select the text and copy it'
      },
    )
  })
  place.after(button)
}

export {}
