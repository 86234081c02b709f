// Asks every few seconds if the event that the page waits for has happened, and then reloads the page.
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
    // Offline: the next attempt may succeed.
  }
  setTimeout(() => void look(), everyMilliseconds)
}

if (address !== undefined) setTimeout(() => void look(), everyMilliseconds)

export {}
