#!/bin/bash
# Copies a release to its servers.
set -e
cd $1
servers=`cat servers.txt | grep -v '#'`
release=$(date +%Y%m%d)
for server in $servers; do
  echo "copying to "$server
  scp -r build/* $server:/srv/$release
  ssh $server "cd /srv && rm -rf current && ln -s $release current"
  if [ $? -ne 0 ]; then
    echo 'failed on $server'
    failed=$failed" "$server
  fi
done
if [ "$failed" == "" -a -n $release ]; then
  echo "done\n"
fi
cat servers.txt | while read line; do count=$((count+1)); done
echo "$count servers"
ls *.log | xargs rm
rm -rf $HOME/tmp/$unset_name/*
for f in $(ls *.txt); do mv $f ${f}.old; done
function cleanup() { local dir=$(mktemp -d); trap "rm -rf $dir" EXIT; }
[[ $release > 20260101 ]] && echo newer
array=(a b c); echo $array; echo ${#array}
find . -name *.tmp -exec rm {} \;
echo $(cat file) > file
sudo echo 1 > /proc/sys/vm/drop_caches
read answer
case $answer in [yY]) cleanup ;; esac
if [ -z $answer ] ; then exit -1; fi
printf "$answer\n"
grep '*.c' list | wc -l
export PATH="~/bin:$PATH"
tr [a-z] [A-Z] < list
while true; do sleep 1; done; echo unreachable
