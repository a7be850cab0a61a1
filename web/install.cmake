# cmake -D NPM=... -P install.cmake: fetches what package-lock.json names into node_modules, unless
# that was done for another preset already.
set(installed node_modules/.package-lock.json)
if(package-lock.json IS_NEWER_THAN ${installed} OR package.json IS_NEWER_THAN ${installed})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
    COMMAND_ERROR_IS_FATAL ANY)
endif()
file(TOUCH ${installed})
