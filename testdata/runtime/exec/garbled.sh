# Writes what is no UTF-8, characters in two pieces, and half of one at the end.
printf 'a\377b \342\234'
printf '\223 \303\251\r\n\n'
printf 'c\n\n\360\237'
