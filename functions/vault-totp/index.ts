import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultTotp } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultTotp, run)
