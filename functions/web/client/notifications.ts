// Subscribes this browser to pushes and hands its address and keys to the form, which the server sends hidden.
type Policy = { createScriptURL(url: string): string }
declare const trustedTypes: { createPolicy(name: string, rules: Policy): Policy } | undefined

const form = document.querySelector<HTMLFormElement>('form[data-push-key]')

if (form && 'serviceWorker' in navigator && 'PushManager' in window) {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    if (form.querySelector<HTMLInputElement>('[name=endpoint]')?.value !== '') return
    event.preventDefault()
    subscribe(form).then(() => form.requestSubmit(), tell)
  })
}

async function subscribe({ dataset, elements }: HTMLFormElement): Promise<void> {
  await navigator.serviceWorker.register(trusted(dataset['worker'] ?? ''))
  const { pushManager } = await navigator.serviceWorker.ready
  const applicationServerKey = dataset['pushKey'] ?? ''
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })
  const { endpoint = '', keys = {} } = made.toJSON()
  for (const [name, value] of Object.entries({ endpoint, ...keys })) {
    const field = elements.namedItem(name)
    if (field instanceof HTMLInputElement) field.value = value
  }
}

// Browsers with trusted types take the address of a worker from a policy alone (frame.ts names this one).
function trusted(url: string): string {
  if (typeof trustedTypes === 'undefined') return url
  return trustedTypes
    .createPolicy('worker', { createScriptURL: (given) => given })
    .createScriptURL(url)
}

function tell() {
  const problem = form?.querySelector<HTMLElement>('[data-problem]')
  if (problem) problem.hidden = false
}

export {}
