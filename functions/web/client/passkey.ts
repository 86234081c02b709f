// Forms that a passkey answers. The server sends them hidden, because without script there is no passkey.

for (const place of document.querySelectorAll<HTMLElement>('[data-passkey]')) {
  const form = place.querySelector('form')
  if (!form || !('PublicKeyCredential' in window)) continue
  place.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    answer(place, form).catch((error: unknown) => tell(form, error))
  })
}

// Forms that are approved by a passkey's signature over the terms they show. Other buttons need no passkey.
const answered = new WeakSet<HTMLFormElement>()
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-consent]')) {
  const button = form.querySelector<HTMLButtonElement>('button[value=approved]')
  if (!button || !('PublicKeyCredential' in window)) continue
  button.hidden = false
  for (const unable of form.querySelectorAll<HTMLElement>('[data-unable]')) unable.hidden = true
  form.addEventListener('submit', (event) => {
    if (event.submitter !== button || answered.delete(form)) return
    event.preventDefault()
    consent(form, button).catch((error: unknown) => tell(form, error))
  })
}

async function consent(form: HTMLFormElement, button: HTMLButtonElement) {
  const ticked = [...form.querySelectorAll<HTMLInputElement>('[data-ticks] input:checked')]
  const challenges = new URLSearchParams(form.dataset['challenges'])
  const challenge = challenges.get(ticked.map(({ name }) => name).join(' ')) ?? ''
  const options: unknown = JSON.parse(form.dataset['consent'] ?? '')
  await fillIn(form, isToGet(options) ? { ...options, challenge } : options)
  answered.add(form)
  form.requestSubmit(button)
}

async function answer(place: HTMLElement, form: HTMLFormElement) {
  const options = await ask(place.dataset['options'] ?? '', fieldOf(form, 'form').value)
  if (options === undefined) return
  await fillIn(form, options)
  form.submit()
}

async function fillIn(form: HTMLFormElement, options: unknown) {
  const credential = await turnToAuthenticator(options)
  if (!(credential instanceof PublicKeyCredential)) throw new Error('no passkey')
  fieldOf(form, 'answer').value = JSON.stringify(credential.toJSON())
}

// Fetches the options. A redirect, such as to the page for a proof, is followed; other answers reload.
async function ask(path: string, token: string): Promise<unknown> {
  const response = await fetch(path, { method: 'POST', body: new URLSearchParams({ form: token }) })
  if (response.headers.get('content-type')?.startsWith('application/json')) return response.json()
  location.assign(response.redirected ? response.url : location.href)
  return undefined
}

async function turnToAuthenticator(options: unknown): Promise<Credential | null> {
  if (isToCreate(options)) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
    return navigator.credentials.create({ publicKey })
  }
  if (!isToGet(options)) return null
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  return navigator.credentials.get({ publicKey })
}

function isToCreate(options: unknown): options is PublicKeyCredentialCreationOptionsJSON {
  return typeof options === 'object' && options !== null && 'user' in options
}

function isToGet(options: unknown): options is PublicKeyCredentialRequestOptionsJSON {
  return typeof options === 'object' && options !== null && 'rpId' in options
}

function fieldOf(form: HTMLFormElement, name: string): HTMLInputElement {
  const field = form.elements.namedItem(name)
  if (!(field instanceof HTMLInputElement)) throw new Error(`no field ${name}`)
  return field
}

function tell(form: HTMLFormElement, error: unknown) {
  const place = form.querySelector<HTMLElement>('[role=alert]')
  if (!place) return
  const wasKnown = error instanceof DOMException && error.name === 'InvalidStateError'
  const otherwise =
    'consent' in form.dataset
      ? 'nothing was approved. Try again.'
      : 'so try again, or go on without it.'
  place.textContent = wasKnown
    ? 'This device already holds a passkey for the account.'
    : `The passkey was not used, ${otherwise}`
  place.hidden = false
}

export {}
