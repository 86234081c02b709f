import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultGenerate } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultGenerate, run)
