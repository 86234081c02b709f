#!/bin/sh
# Runs workerd so that it ends with the process that started it, even by SIGKILL; otherwise it would
# keep the port. Only Linux has parent-death signals (prctl(2), PR_SET_PDEATHSIG).
if setpriv --pdeathsig KILL true 2>/dev/null; then
  exec setpriv --pdeathsig KILL "$AOA_WORKERD" "$@"
fi
exec "$AOA_WORKERD" "$@"
