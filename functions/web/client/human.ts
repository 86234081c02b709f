// Solves the challenge of a form when it is submitted, which takes about a second, and then sends it.
import type { Challenge, DeriveKeyFunction } from 'altcha-lib'
import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2'

const derive: DeriveKeyFunction = deriveKey
const form = document.querySelector<HTMLFormElement>('form[data-challenge]')
const field = form?.querySelector<HTMLInputElement>('input[name=solution]')
const words = document.querySelector<HTMLElement>('#progress')

function isChallenge(value: unknown): value is Challenge {
  return typeof value === 'object' && value !== null && 'parameters' in value
}

async function solve(form: HTMLFormElement, field: HTMLInputElement): Promise<void> {
  if (words) words.textContent = 'This takes about a second.'
  const challenge: unknown = JSON.parse(form.dataset['challenge'] ?? '{}')
  if (!isChallenge(challenge)) return
  const solution = await solveChallenge({ challenge, deriveKey: derive })
  field.value = JSON.stringify({ challenge, solution })
  form.submit()
}

if (form && field) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    form.querySelector('button')?.setAttribute('disabled', '')
    void solve(form, field)
  })
}
