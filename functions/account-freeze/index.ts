import { edgeFunction } from '../../shared/http/edge.ts'
import { accountFreeze } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(accountFreeze, run)
