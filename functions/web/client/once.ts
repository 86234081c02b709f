// What is shown once is not shown again when the browser keeps the page and comes back to it.
window.addEventListener('pagehide', () => {
  for (const place of document.querySelectorAll<HTMLElement>('[data-once]')) {
    place.textContent = 'Shown once'
    delete place.dataset['copy']
  }
  for (const button of document.querySelectorAll('.copy')) button.remove()
})

export {}
