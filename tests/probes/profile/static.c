// A statically linked program: nothing can be loaded into it.
#include <stdio.h>

int main(void)
{
    puts("static");
    return 3;
}
