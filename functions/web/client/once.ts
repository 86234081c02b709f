// Removes secrets that are shown once, so that a page from the back-forward cache does not show them again.
window.addEventListener('pagehide', () => {
  for (const place of document.querySelectorAll<HTMLElement>('[data-once]')) {
    place.textContent = 'Shown once'
    delete place.dataset['copy']
  }
  for (const button of document.querySelectorAll('.copy')) button.remove()
})

export {}
