import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultLogin } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultLogin, run)
