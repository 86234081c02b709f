import { edgeFunction } from '../../shared/http/edge.ts'
import { createAccount } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(createAccount, run)
