/** Says how long ago a time was, in the largest unit that fits. */
export function agoOf(nowMilliseconds: number, at: string): string {
  const minutes = Math.floor((nowMilliseconds - Date.parse(at)) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours === 1 ? 'an hour ago' : `${hours} hours ago`
}
