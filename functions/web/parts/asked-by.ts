/** The key or app that asked for something, and from which device, as facts of a page. */

type Asked = { title: string; calls_itself: string | null; device: string; device_known: boolean }

/** An app's name is its own word and stands alone. */
export function askedBy(asked: Asked): (readonly [name: string, value: string])[] {
  return [
    ['Asked by', asked.title],
    ...(asked.calls_itself === null ? [] : [['It calls itself', asked.calls_itself] as const]),
    ['Device', `${asked.device}, ${asked.device_known ? 'known' : 'new'}`],
  ]
}
