/** What the form before did, in the words of the page after it; `goTo` names the act in the address. */
export const doneWords = {
  unfrozen: 'The account is no longer frozen. Agents can pay again.',
  key_revoked: 'The key is revoked. Whoever has it is refused.',
  app_disconnected: 'The app is disconnected. Its next call is refused.',
  recipient_added: 'The recipient is known now.',
  removed: 'It is removed. You are asked about it again.',
  capped: 'The caps are saved, and hold from now on.',
  declined_all: 'Everything that waited is declined.',
  signed_out: 'You are signed out.',
  few: 'Mark at least two payments that wait, to approve them together. What no longer waits cannot be approved.',
  unsure: 'Nothing has changed. Tick the box beside the button first.',
} as const

/** Act that the page after it tells. */
export type Done = keyof typeof doneWords
