// Asks every few seconds whether what the page waits for has happened, and then shows the page anew.
const everyMilliseconds = 4_000
const place = document.querySelector<HTMLElement>('[data-watch]')
const address = place?.dataset['watch']
const seen = place?.dataset['seen']

async function look(): Promise<void> {
  try {
    const answer = await fetch(address ?? '', { headers: { accept: 'text/plain' } })
    if (answer.ok && (await answer.text()) !== seen) {
      location.reload()
      return
    }
  } catch {
    // Without a connection there is nothing to show; the next look may find one.
  }
  setTimeout(() => void look(), everyMilliseconds)
}

if (address !== undefined) setTimeout(() => void look(), everyMilliseconds)

export {}
